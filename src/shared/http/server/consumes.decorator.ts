import { applyDecorators, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ApiConsumes } from '@nestjs/swagger';

const MEDIA_TYPES_METADATA = 'api:consumes';
const JSON_ONLY = ['application/json'];

/** Declares the JSON media types of the body of an operation, such as `application/merge-patch+json`, instead of `application/json`. */
export function Consumes(...mediaTypes: string[]): MethodDecorator {
  return applyDecorators(SetMetadata(MEDIA_TYPES_METADATA, mediaTypes), ApiConsumes(...mediaTypes));
}

export function getMediaTypes(reflector: Reflector, context: ExecutionContext): readonly string[] {
  return reflector.get<readonly string[] | undefined>(MEDIA_TYPES_METADATA, context.getHandler()) ?? JSON_ONLY;
}
