import { type CanActivate, type ExecutionContext, Injectable, type RawBodyRequest } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { scan } from 'secure-json-parse';
import { PetStoreError } from '../../domain/pet-store-error';
import { checkJsonLimits, JsonLimitError, parseJson } from '../../json/json';
import { getMediaTypes } from './consumes.decorator';
import { MULTIPART_BODY, UnreadBody } from './request-body';

const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** Matches text that may have a field which changes the prototype of an object that the body is copied to. */
const MAY_HAVE_PROTOTYPE = /__proto__|constructor|\\u/;

/**
 * Reads and parses the JSON body of a request, or rejects it. The last global guard, so that callers without a key or over their limit
 * learn nothing about it, and the guards of a controller see the body.
 */
@Injectable()
export class RequestBodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (context.getType() !== 'http') {
      return true;
    }
    const request = context.switchToHttp().getRequest<RawBodyRequest<FastifyRequest>>();
    const { body } = request;
    if (body instanceof UnreadBody) {
      return readBody(request, body, getMediaTypes(this.reflector, context));
    }
    if (body === undefined && request.headers['content-type']?.startsWith('multipart/')) {
      request.body = MULTIPART_BODY;
    }
    return true;
  }
}

async function readBody(
  request: RawBodyRequest<FastifyRequest>,
  body: UnreadBody,
  mediaTypes: readonly string[],
): Promise<true> {
  request.rawBody = await body.read(mediaTypes);
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
    const value = parseJson(text);
    return MAY_HAVE_PROTOTYPE.test(text)
      ? scan(value as object, { protoAction: 'remove', constructorAction: 'remove' })
      : value;
  } catch (error) {
    throw new PetStoreError('invalid_json', error instanceof JsonLimitError ? `The body ${error.message}.` : undefined);
  }
}
