import { createHash } from 'node:crypto';
import { type WindowName, WINDOWS } from '../../shared/domain/allowance';

/** A Lua script that Redis runs atomically, and the SHA-1 that identifies it once it is loaded. */
export interface Script {
  readonly source: string;
  readonly sha1: string;
}

/** The time by Redis's clock, independent of the replicas' clocks; a test can pass it. */
const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * Functions for hashes. A key of another type is deleted, and an invalid number is read as 0, so that bad data affects no other key of
 * the call.
 */
const HASHES = `
local function read(key, ...)
  local values = redis.pcall('HMGET', key, ...)
  if values.err then
    if string.find(values.err, 'WRONGTYPE', 1, true) then
      redis.call('PEXPIRE', key, 0)
    end
    values = redis.call('HMGET', key, ...)
  end
  return values
end

local function parse(value)
  local number = value and tonumber(value)
  return number and number >= 0 and number < 1e13 and number % 1 == 0 and number or 0
end

-- Keeps a key a little longer than its contents, so that only their own times decide.
local function expire(key, at)
  redis.call('PEXPIRE', key, at - now + 1000)
end
`;

/** The fields of each window in the hash of an account. */
const WINDOW_FIELDS = WINDOWS.flatMap(({ name }) => getWindowFields(name))
  .map((field) => `'${field}'`)
  .join(', ');
/** The end of each window if it opens now. */
const WINDOW_ENDS = WINDOWS.map(({ lengthMs, opens }) =>
  opens === 'calendar' ? `now - now % ${lengthMs} + ${lengthMs}` : `now + ${lengthMs}`,
).join(', ');

/**
 * Counts or rejects requests with several API keys by the rules of the RateLimiter port. Requests with the same key are
 * processed one after another. One call for many keys costs Redis and its client about half as much as one call per key.
 * KEYS: for each API key, the windows of its account, then its bans.
 * ARGV: now; the rules for bans (a JSON object); for each API key, its requests, its allowance per minute, its unban count, and for each
 * window, its limit, its end as the replica knows it, and how many requests the replica has admitted in it (one JSON array of numbers,
 * which Redis and its client process faster than as many arguments). A known window that Redis does not have is continued. Last, the time
 * after which nothing is counted, because the replica has decided the requests itself (or nothing).
 * Returns now; then for each API key: the number of admitted requests, the number of following requests that are rejected,
 * the end of the ban that rejects the rest (or 0), and the end and usage of each window.
 */
export const CONSUME = createScript(`${NOW}${HASHES}
if now > (tonumber(ARGV[4]) or now) then
  return {now}
end
local fields, newEnds = {${WINDOW_FIELDS}}, {${WINDOW_ENDS}}
local rules, values, reply, changes = cjson.decode(ARGV[2]), cjson.decode(ARGV[3]), {now}, {}

local function getBanMs(bans)
  return rules.durationsMs[math.max(1, math.min(bans, #rules.durationsMs))]
end

local function finish(admitted, rejected, bannedUntil, windows)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = admitted, rejected, bannedUntil
  for i = 1, #fields do
    reply[at + 3 + i] = windows[i] or 0
  end
end

local function consume(windowsKey, banKey, first)
  local requests, perMinute, unbans = unpack(values, first, first + 2)
  local ban = read(banKey, 'bannedUntil', 'unbans', 'bans')
  local bannedUntil, unbansBefore, bans = parse(ban[1]), parse(ban[2]), parse(ban[3])
  -- A ban that ends later than a new one would was imposed before the clock was set back.
  if unbans > unbansBefore or bannedUntil > now + getBanMs(bans) then
    bannedUntil, bans = 0, 0
  end
  local isBanned = bannedUntil > now
  if isBanned and requests > 0 then
    return finish(0, 0, bannedUntil, {})
  end

  -- The end and usage of each window, in turn.
  local windows, left = read(windowsKey, unpack(fields)), {}
  local admitted, opens, expiresAt = requests, false, 0
  for i = 1, #newEnds do
    local endsAt, used = parse(windows[2 * i - 1]), parse(windows[2 * i])
    local limit, knownEndsAt, knownAdmitted = unpack(values, first + 3 * i, first + 3 * i + 2)
    if knownEndsAt <= now or knownEndsAt > newEnds[i] then
      knownEndsAt, knownAdmitted = newEnds[i], 0
    end
    if endsAt <= now or endsAt > newEnds[i] then
      endsAt, used, opens = knownEndsAt, 0, true
    end
    windows[2 * i - 1], windows[2 * i], left[i] = endsAt, used, limit - math.max(used, knownAdmitted)
    admitted, expiresAt = math.min(admitted, left[i]), math.max(expiresAt, endsAt)
  end

  admitted = math.max(0, admitted)
  if admitted > 0 then
    local count = 0
    for i = 1, #fields do
      local isUsage = i % 2 == 0
      if isUsage then
        windows[i] = windows[i] + admitted
      end
      if isUsage or opens then
        changes[count + 1], changes[count + 2], count = fields[i], windows[i], count + 2
      end
    end
    redis.call('HSET', windowsKey, unpack(changes, 1, count))
    if opens then
      expire(windowsKey, expiresAt)
    end
  end
  if admitted == requests then
    return finish(admitted, 0, isBanned and bannedUntil or 0, windows)
  end

  if unbans > unbansBefore then
    ban = {}
  else
    ban = redis.call('HMGET', banKey, 'rejections', 'rejectionsUntil', 'exhaustedUntil', 'firstRejectedAt')
  end
  local rejections, rejectionsUntil = parse(ban[1]), parse(ban[2])
  local exhaustedUntil, firstRejectedAt = parse(ban[3]), parse(ban[4])
  local endsAt = 0
  for i = 1, #newEnds do
    if left[i] <= admitted then
      endsAt = math.max(endsAt, windows[2 * i - 1])
    end
  end
  if exhaustedUntil ~= endsAt or firstRejectedAt > now then
    exhaustedUntil, firstRejectedAt = endsAt, now
  end
  local rejected, isBan = requests - admitted, false
  if now - firstRejectedAt > rules.graceMs then
    if rejectionsUntil <= now or rejectionsUntil > now + rules.windowMs then
      rejections, rejectionsUntil = 0, now + rules.windowMs
    end
    isBan = rejections + rejected > perMinute
    rejected = math.max(0, math.min(rejected, perMinute - rejections))
    rejections = rejections + rejected
  end
  if isBan then
    bans = now < bannedUntil + rules.memoryMs and bans + 1 or 1
    bannedUntil = now + getBanMs(bans)
    rejectionsUntil = 0
  end
  redis.call('HSET', banKey, 'rejections', rejections, 'rejectionsUntil', rejectionsUntil, 'bans', bans, 'bannedUntil', bannedUntil,
    'unbans', math.max(unbans, unbansBefore), 'exhaustedUntil', exhaustedUntil, 'firstRejectedAt', firstRejectedAt)
  expire(banKey, math.max(exhaustedUntil, rejectionsUntil, bannedUntil + rules.memoryMs))
  return finish(admitted, rejected, isBan and bannedUntil or 0, windows)
end

for i = 1, #KEYS / 2 do
  consume(KEYS[2 * i - 1], KEYS[2 * i], (i - 1) * 3 * (1 + #newEnds) + 1)
end
return reply
`);

/**
 * Counts or rejects a request in one window. A usage above the limit marks a window that the first rejection has blocked.
 * KEYS: the window. ARGV: now, limit, length and block duration in ms, and a deadline as for CONSUME. Returns now, 1 if admitted, the end
 * and usage of the window.
 */
export const COUNT = createScript(`${NOW}${HASHES}
if now > (tonumber(ARGV[5]) or now) then
  return {now}
end
local limit, ttl, blockDuration = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local window = read(KEYS[1], 'endsAt', 'used')
local endsAt, used = parse(window[1]), parse(window[2])
if endsAt <= now or endsAt > now + math.max(ttl, blockDuration) then
  endsAt, used = now + ttl, 0
end
local isAdmitted, isBlock = used < limit, used == limit and blockDuration ~= ttl
if isBlock then
  endsAt = now + blockDuration
end
if isAdmitted or isBlock then
  used = used + 1
  redis.call('HSET', KEYS[1], 'endsAt', endsAt, 'used', used)
  expire(KEYS[1], endsAt)
end
return {now, isAdmitted and 1 or 0, endsAt, used}
`);

/**
 * Takes back requests that CONSUME or COUNT has admitted in some windows, unless they are over.
 * KEYS: the hash of the windows. ARGV: now, the number of requests; for each window, the fields of its end and usage, and its end.
 */
export const UNDO = createScript(`${NOW}${HASHES}
for i = 3, #ARGV, 3 do
  local window = read(KEYS[1], ARGV[i], ARGV[i + 1])
  if parse(window[1]) == tonumber(ARGV[i + 2]) then
    redis.call('HSET', KEYS[1], ARGV[i + 1], math.max(0, parse(window[2]) - ARGV[2]))
  end
end
return now
`);

/**
 * Checks that Redis accepts writes and permits every command of the scripts. Returns now.
 * KEYS: a key to write. ARGV: now. As in the other scripts, HSET is the first write: a full Redis accepts it after another one.
 */
export const PROBE = createScript(`${NOW}${HASHES}
read(KEYS[1], 'probe')
redis.call('HSET', KEYS[1], 'probe', 1)
redis.call('PEXPIRE', KEYS[1], 1000)
return now
`);

/** The ACL permissions that the scripts and the client's connections need. */
export const PERMISSIONS = '+eval +evalsha +time +hmget +hset +pexpire +info';

/** Returns the fields of the end and the usage of a window in the hash of an account. */
export function getWindowFields(name: WindowName): [end: string, used: string] {
  return [`${name}EndsAt`, `${name}Used`];
}

function createScript(source: string): Script {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}
