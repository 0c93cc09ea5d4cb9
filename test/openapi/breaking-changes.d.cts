import type { OpenAPIObject } from '@nestjs/swagger';

export function breakingChanges(released: OpenAPIObject, current: OpenAPIObject): string[];
