/** An API key as it is stored: the secret itself is not, only its SHA-256. */
export class ApiKey {
  constructor(
    readonly id: bigint,
    readonly accountId: bigint,
    readonly hash: Buffer,
    /** The first characters of the secret, for people to recognise the key. */
    readonly firstCharacters: string,
    readonly createdAt: Date,
    readonly expiresAt: Date | null,
    readonly revokedAt: Date | null,
  ) {}
}

export type NewApiKey = Omit<ApiKey, 'id' | 'revokedAt'>;
