import type { OpenAPIObject } from '@nestjs/swagger';

export function dereference(document: OpenAPIObject): OpenAPIObject;
