import { type CanActivate, type ExecutionContext, Injectable, type RawBodyRequest } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import { checkJsonLimits, JsonLimitError, parseJson } from '../../json/json';
import { UnreadBody } from './request-body';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses the JSON body of a request, or rejects it. The last global guard, so that callers without a key or over their limit
 * learn nothing about it, and the guards of a controller see the body.
 */
@Injectable()
export class RequestBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<RawBodyRequest<FastifyRequest>>();
    return request.body instanceof UnreadBody ? readBody(request, request.body) : true;
  }
}

async function readBody(request: RawBodyRequest<FastifyRequest>, body: UnreadBody): Promise<true> {
  request.rawBody = await body.read();
  request.body = parseBody(request.rawBody);
  return true;
}

/** @returns undefined for an empty body */
function parseBody(bytes: Buffer): unknown {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw new PetStoreError('invalid_json', 'The body is not valid UTF-8.');
  }
  if (text.trim() === '') {
    return undefined;
  }
  try {
    checkJsonLimits(text);
    return parseJson(text);
  } catch (error) {
    throw new PetStoreError('invalid_json', error instanceof JsonLimitError ? `The body ${error.message}.` : undefined);
  }
}
