import { Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../../../config/settings';
import { logEvent } from '../../log-events';

/** Logs once that clients behind a gateway share its IP address, and so its limit, because TRUST_PROXY is not set. */
export function warnOfIgnoredForwardedFor(
  fastify: FastifyInstance,
  { environment, trustProxy }: Pick<Settings, 'environment' | 'trustProxy'>,
): void {
  let isExpected = environment === 'development' || trustProxy !== false;
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!isExpected && request.headers['x-forwarded-for'] !== undefined) {
      isExpected = true;
      logEvent(
        new Logger('TrustProxy'),
        'forwarded_for_ignored',
        'X-Forwarded-For is ignored because TRUST_PROXY is not set: clients behind a gateway share its IP address. ' +
          'Set TRUST_PROXY to the number of gateways, or to 0 if there are none.',
      );
    }
    done();
  });
}
