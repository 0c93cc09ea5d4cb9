import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DocumentBuilder, getSchemaPath, type SchemaObject, SwaggerModule } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import { ONE_OF } from '../../src/shared/http/validation/at-least-one-of.decorator';
import { TestService } from '../support/service';

interface Argument {
  readonly index: number;
  /** The name of a single field, if the handler does not take the whole body or query. */
  readonly data?: unknown;
}

/** Finds the DTO classes of bodies and queries, with the names of their handlers. */
function findRequestClasses(service: TestService): [handler: string, dto: Type<object>][] {
  const scanner = service.app.get(MetadataScanner);
  return service.app
    .get(DiscoveryService)
    .getControllers()
    .flatMap(({ metatype, instance }) => {
      const prototype = Object.getPrototypeOf(instance) as object;
      return scanner.getAllMethodNames(prototype).flatMap((name) => {
        const types = Reflect.getMetadata('design:paramtypes', prototype, name) as Type<object>[];
        const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, metatype as Type, name) ?? {}) as Record<
          string,
          Argument
        >;
        return Object.entries(args)
          .filter(([key, { data }]) => data === undefined && isDto(key))
          .map(([, { index }]): [string, Type<object>] => [
            `${String(metatype?.name)}.${name}`,
            types[index] ?? Object,
          ]);
      });
    });
}

/** The key of a custom decorator's argument begins with random characters, which may be digits. */
function isDto(key: string): boolean {
  const [type] = key.split(':');
  return [RouteParamtypes.BODY, RouteParamtypes.QUERY].includes(Number(type));
}

describe('The bodies and queries of handlers', () => {
  let service: TestService;
  let dtos: [handler: string, dto: Type<object>][];

  beforeAll(async () => {
    service = await TestService.start();
    dtos = findRequestClasses(service);
  });
  afterAll(() => service.close());

  it('are classes, not types that are erased at run time', () => {
    expect(dtos.length).toBeGreaterThan(0);
    expect(dtos.filter(([, dto]) => dto === Object).map(([handler]) => handler)).toEqual([]);
  });

  it('have fields that are validated, documented, and parsed as their type', () => {
    const classes = [...new Set(dtos.map(([, dto]) => dto))];
    const document = SwaggerModule.createDocument(service.app, new DocumentBuilder().build(), { extraModels: classes });
    const problems = classes.flatMap((dto) => {
      const name = getSchemaPath(dto).split('/').at(-1) ?? '';
      const { properties = {} } = document.components?.schemas?.[name] as SchemaObject;
      const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
      const checked = rules.map(({ propertyName }) => propertyName).filter((field) => !field.startsWith(ONE_OF));
      const documented = Object.keys(properties);
      const fields = [...new Set([...documented, ...checked])];
      return [
        ...fields
          .filter((field) => !checked.includes(field))
          .map((field) => `${dto.name}.${field} has no decorator of class-validator: it is always removed`),
        ...fields
          .filter((field) => !documented.includes(field))
          .map((field) => `${dto.name}.${field} has no @ApiProperty(): it is not in the document`),
        ...fields
          .filter((field) => isBigInt(dto, field) && !isReadAsBigInt(dto, field))
          .map((field) => `${dto.name}.${field} is a bigint that no @IsInt64() or @IsPositiveInt64String() parses`),
      ];
    });
    expect(problems).toEqual([]);
  });
});

function isBigInt({ prototype }: Type<object>, field: string): boolean {
  return Reflect.getMetadata('design:type', prototype as object, field) === BigInt;
}

function isReadAsBigInt(dto: Type<object>, field: string): boolean {
  return [1, '1'].some(
    (sent) => typeof Reflect.get(plainToInstance<object, object>(dto, { [field]: sent }), field) === 'bigint',
  );
}
