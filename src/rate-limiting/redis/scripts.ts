import { createHash } from 'node:crypto';

/** A Lua script that Redis runs atomically, and the SHA-1 that identifies it once it is loaded. */
export interface Script {
  readonly source: string;
  readonly sha1: string;
}

/** Milliseconds since the epoch by Redis's clock, independent of the replicas' clocks; a test can pass the time. */
const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * Counts or rejects requests with several API keys by the rules of the RateLimiter port. Requests with the same key are
 * processed one after another. One call for many keys costs Redis and its client about half as much as one call per key.
 * KEYS: for each API key, the windows of its account, then its penalty.
 * ARGV: now; the rules for bans (a JSON object); for each API key, its requests, its allowances per minute and per day, and its unban
 * count (one JSON array of numbers, which Redis and its client process faster than as many arguments).
 * Returns now; then for each API key: the number of admitted requests, the number of following requests that are rejected,
 * the end of the ban that rejects the rest (or 0), the end and usage of the minute, the end and usage of the day.
 */
export const COUNT_REQUESTS = createScript(`${NOW}
local midnight = now - now % 86400000 + 86400000

local function count(windowsKey, penaltyKey, requests, perMinute, perDay, unbans)
  local penalty = redis.call('HMGET', penaltyKey, 'refusals', 'refusalsUntil', 'bans', 'bannedUntil', 'unbans')
  local unbansBefore = tonumber(penalty[5]) or 0
  if unbans > unbansBefore then
    penalty = {}
  end
  local bannedUntil = tonumber(penalty[4]) or 0
  local isBanned = bannedUntil > now
  if isBanned and requests > 0 then
    return 0, 0, bannedUntil, 0, 0, 0, 0
  end

  local windows = redis.call('HMGET', windowsKey, 'minuteEndsAt', 'minuteUsed', 'dayEndsAt', 'dayUsed')
  local minuteEndsAt, minuteUsed = tonumber(windows[1]) or 0, tonumber(windows[2]) or 0
  local dayEndsAt, dayUsed = tonumber(windows[3]) or 0, tonumber(windows[4]) or 0
  local opens = false
  if minuteEndsAt <= now or minuteEndsAt > now + 60000 then
    minuteEndsAt, minuteUsed, opens = now + 60000, 0, true
  end
  if dayEndsAt ~= midnight then
    dayEndsAt, dayUsed, opens = midnight, 0, true
  end

  local admitted = math.max(0, math.min(requests, perMinute - minuteUsed, perDay - dayUsed))
  if admitted > 0 then
    minuteUsed, dayUsed = minuteUsed + admitted, dayUsed + admitted
    if opens then
      redis.call('HSET', windowsKey, 'minuteEndsAt', minuteEndsAt, 'minuteUsed', minuteUsed, 'dayEndsAt', dayEndsAt, 'dayUsed', dayUsed)
      redis.call('PEXPIRE', windowsKey, math.max(minuteEndsAt, dayEndsAt) - now)
    else
      redis.call('HSET', windowsKey, 'minuteUsed', minuteUsed, 'dayUsed', dayUsed)
    end
  end
  if admitted == requests then
    return admitted, 0, isBanned and bannedUntil or 0, minuteEndsAt, minuteUsed, dayEndsAt, dayUsed
  end

  local rules = cjson.decode(ARGV[2])
  local rejections, rejectionsUntil = tonumber(penalty[1]) or 0, tonumber(penalty[2]) or 0
  if rejectionsUntil <= now or rejectionsUntil > now + rules.windowMs then
    rejections, rejectionsUntil = 0, now + rules.windowMs
  end
  local opensPenalty, rejected = rejections == 0, math.max(0, math.min(requests - admitted, perMinute - rejections))
  local bans, isBan = tonumber(penalty[3]) or 0, requests - admitted > rejected
  rejections = rejections + rejected
  if isBan then
    rejections = rejections + 1
    bans = now < bannedUntil + rules.memoryMs and bans + 1 or 1
    bannedUntil = now + rules.durationsMs[math.min(bans, #rules.durationsMs)]
    rejectionsUntil = 0
  end
  redis.call('HSET', penaltyKey, 'refusals', rejections, 'refusalsUntil', rejectionsUntil, 'bans', bans, 'bannedUntil', bannedUntil, 'unbans', math.max(unbans, unbansBefore))
  if isBan or opensPenalty then
    redis.call('PEXPIRE', penaltyKey, math.max(rejectionsUntil, bannedUntil + rules.memoryMs) - now)
  end
  return admitted, rejected, isBan and bannedUntil or 0, minuteEndsAt, minuteUsed, dayEndsAt, dayUsed
end

local reply, values = {now}, cjson.decode(ARGV[3])
for i = 1, #KEYS / 2 do
  local first, at = (i - 1) * 4 + 1, (i - 1) * 7 + 2
  reply[at], reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reply[at + 5], reply[at + 6] = count(
    KEYS[2 * i - 1], KEYS[2 * i], values[first], values[first + 1], values[first + 2], values[first + 3])
end
return reply
`);

/**
 * Counts a failed authentication.
 * KEYS: the window of the client network. ARGV: now, limit. Returns now, 1 if admitted, the end and usage of the window.
 */
export const COUNT_AUTH_FAILURE = createScript(`${NOW}
local limit = tonumber(ARGV[2])
local window = redis.call('HMGET', KEYS[1], 'endsAt', 'used')
local endsAt, used = tonumber(window[1]) or 0, tonumber(window[2]) or 0
if endsAt <= now or endsAt > now + 60000 then
  endsAt, used = now + 60000, 0
end
if used >= limit then
  return {now, 0, endsAt, used}
end
redis.call('HSET', KEYS[1], 'endsAt', endsAt, 'used', used + 1)
if used == 0 then
  redis.call('PEXPIRE', KEYS[1], 60000)
end
return {now, 1, endsAt, used + 1}
`);

/**
 * Adds the requests that a replica admitted locally to the open windows of an account. Each admission is merged once, even if it is
 * reported several times.
 * KEYS: the windows of the account, the merged position of the replica's sequence. ARGV: now, the positions in
 * the sequence before and after the reported admissions, the end and count of the minute, the end and count of the day.
 */
export const MERGE_USAGE = createScript(`${NOW}
local from, to = tonumber(ARGV[2]), tonumber(ARGV[3])
local unmerged = to - math.max(from, tonumber(redis.call('GET', KEYS[2])) or 0)
if unmerged <= 0 then
  return now
end
local windows = redis.call('HMGET', KEYS[1], 'minuteEndsAt', 'minuteUsed', 'dayEndsAt', 'dayUsed')
local minuteEndsAt, minuteUsed = tonumber(windows[1]) or 0, tonumber(windows[2]) or 0
local dayEndsAt, dayUsed = tonumber(windows[3]) or 0, tonumber(windows[4]) or 0
local midnight = now - now % 86400000 + 86400000
if tonumber(ARGV[4]) > now then
  if minuteEndsAt <= now or minuteEndsAt > now + 60000 then
    minuteEndsAt, minuteUsed = math.min(tonumber(ARGV[4]), now + 60000), 0
  end
  minuteUsed = minuteUsed + math.min(tonumber(ARGV[5]), unmerged)
end
if tonumber(ARGV[6]) > now then
  if dayEndsAt ~= midnight then
    dayEndsAt, dayUsed = midnight, 0
  end
  dayUsed = dayUsed + math.min(tonumber(ARGV[7]), unmerged)
end
redis.call('HSET', KEYS[1], 'minuteEndsAt', minuteEndsAt, 'minuteUsed', minuteUsed, 'dayEndsAt', dayEndsAt, 'dayUsed', dayUsed)
redis.call('PEXPIRE', KEYS[1], math.max(1, minuteEndsAt - now, dayEndsAt - now))
redis.call('SET', KEYS[2], to, 'PX', math.max(60000, midnight - now))
return now
`);

/**
 * Checks that Redis accepts writes and permits every command of the scripts. Returns now.
 * KEYS: two keys to write. ARGV: now.
 */
export const PROBE = createScript(`${NOW}
redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], 1, 'PX', 1000)
redis.call('HMGET', KEYS[2], 'probe')
redis.call('HSET', KEYS[2], 'probe', 1)
redis.call('PEXPIRE', KEYS[2], 1000)
return now
`);

/** The ACL permissions that the scripts and the client's connections need. */
export const PERMISSIONS = '+eval +evalsha +time +get +set +hmget +hset +pexpire +info';

function createScript(source: string): Script {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}
