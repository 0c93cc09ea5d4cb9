import type { FastifyRequest } from 'fastify';
import { removeVersion, type Settings } from '../../../config/settings';
import { findApiVersion } from '../access/url-check';

/** Returns the base URL of the version of the API that a request is for, without a trailing slash. */
export function getBaseUrl({ baseUrl }: Pick<Settings, 'baseUrl'>, { url, server }: FastifyRequest): string {
  return `${removeVersion(baseUrl)}/v${findApiVersion(url, server) ?? '1'}`;
}
