import type * as Swagger from '@nestjs/swagger';

type DecoratorName =
  | 'ApiBody'
  | 'ApiExcludeController'
  | 'ApiExtension'
  | 'ApiHeader'
  | 'ApiOperation'
  | 'ApiParam'
  | 'ApiProperty'
  | 'ApiPropertyOptional'
  | 'ApiResponse'
  | 'ApiSchema'
  | 'ApiTags';

const declarations: ((swagger: typeof Swagger) => void)[] = [];

/**
 * The decorators of @nestjs/swagger, which take effect when the OpenAPI document is made. So the package, with the 500
 * files it loads, costs nothing at the start of a replica, nor memory in one that is never asked for the document.
 */
export const ApiBody = later('ApiBody');
export const ApiExcludeController = later('ApiExcludeController');
export const ApiExtension = later('ApiExtension');
export const ApiHeader = later('ApiHeader');
export const ApiOperation = later('ApiOperation');
export const ApiParam = later('ApiParam');
export const ApiProperty = later('ApiProperty');
export const ApiPropertyOptional = later('ApiPropertyOptional');
export const ApiResponse = later('ApiResponse');
export const ApiSchema = later('ApiSchema');
const ApiTags = later('ApiTags');

const groups = new Map<string, string>();

/** Puts the operations of a controller into a group, a tag of the document, which says what they are about. */
export function ApiGroup(name: string, description: string): ClassDecorator {
  groups.set(name, description);
  return ApiTags(name);
}

/** What a group is about. */
export function groupDescription(name: string): string | undefined {
  return groups.get(name);
}

/** Applies what was declared, in the order of the declarations, each once. */
export function applyDeclarations(swagger: typeof Swagger): void {
  declarations.splice(0).forEach((apply) => {
    apply(swagger);
  });
}

/** What refers to a schema of the document by its name. */
export function schemaPath(name: string): string {
  return `#/components/schemas/${name}`;
}

function later<Name extends DecoratorName>(name: Name): (typeof Swagger)[Name] {
  const decorator =
    (...options: unknown[]) =>
    (...target: unknown[]) => {
      declarations.push((swagger) => {
        const create = swagger[name] as (...options: unknown[]) => (...target: unknown[]) => void;
        create(...options)(...target);
      });
    };
  return decorator;
}
