import type { OpenAPIObject } from '@nestjs/swagger';

export function findBreakingChanges(released: OpenAPIObject, current: OpenAPIObject): string[];
