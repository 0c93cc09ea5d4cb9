const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

/** Removes what people paste along with an API key: white space, quotes, and the start of the header. */
export function cleanKey(text) {
  return text
    .replace(/^\s*(export\s+)?\w+=/, '')
    .replace(/^["'`“”‘’\s]*(Authorization:)?\s*(Bearer\s+)?["'`“”‘’\s]*/i, '')
    .replace(/["'`“”‘’;,\s]+$/, '');
}

/**
 * Says what is wrong with an API key, as far as its text shows.
 * @param prefix the start of the keys of this environment, such as `pets_test_`
 */
export function findKeyProblem(key, prefix) {
  const [, name, environment] = /^(.*_)(live|test)_$/.exec(prefix);
  if (key === '') {
    return 'Enter an API key.';
  }
  if (!key.startsWith(prefix)) {
    const other = environment === 'live' ? 'test' : 'live';
    return key.startsWith(`${name}${other}_`)
      ? `This is a ${other} key. This service accepts ${environment} keys, which start with ${prefix}.`
      : `An API key of this service starts with ${prefix}.`;
  }
  const length = prefix.length + 43 + CHECKSUM_LENGTH;
  if (key.length !== length) {
    return `An API key has ${length} characters; this one has ${key.length}. Copy it again.`;
  }
  return computeChecksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH)
    ? undefined
    : 'A character of this API key is wrong. Copy it again.';
}

/** The CRC-32 as 6 base62 digits. */
function computeChecksum(text) {
  let crc = ~0;
  for (const character of text) {
    crc ^= character.charCodeAt(0);
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
  }
  let digits = '';
  for (let rest = ~crc >>> 0; digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62)) {
    digits = ALPHABET[rest % 62] + digits;
  }
  return digits;
}
