import type { ArgumentMetadata, Type } from '@nestjs/common';
import { DocumentBuilder, getSchemaPath, type SchemaObject, SwaggerModule } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import { ONE_OF } from '../../src/shared/http/validation/at-least-one-field.decorator';
import { RequestValidationPipe } from '../../src/shared/http/validation/request-validation.pipe';
import { type Operation, OPERATIONS } from '../support/operations';
import { TestService } from '../support/service';

/** Sends a request to every operation. @returns the types that the pipe is given for whole bodies and queries, with their operations */
async function findRequestClasses(service: TestService): Promise<[operation: string, dto: Type<object>][]> {
  const transform = jest.spyOn(RequestValidationPipe.prototype, 'transform');
  const key = await service.createKey();
  const found: [operation: string, dto: Type<object>][] = [];
  for (const { operationId, method, path, body } of OPERATIONS) {
    transform.mockClear();
    await service.call(method, path, { key, body });
    const isWhole = ({ type, data }: ArgumentMetadata) => data === undefined && ['body', 'query'].includes(type);
    const types = transform.mock.calls.map(([, metadata]) => metadata).filter(isWhole);
    found.push(
      ...types.map(({ metatype = Object }): [string, Type<object>] => [operationId, metatype as Type<object>]),
    );
  }
  transform.mockRestore();
  return found;
}

describe('The bodies and queries of operations', () => {
  let service: TestService;
  let dtos: [operation: string, dto: Type<object>][];

  beforeAll(async () => {
    service = await TestService.start();
    dtos = await findRequestClasses(service);
  });
  afterAll(() => service.close());

  it('are classes, not types that are erased at run time', () => {
    const hasInput = ({ requestBody, parameters = [] }: Operation) =>
      requestBody !== undefined || parameters.some((each) => 'in' in each && each.in === 'query');
    const operations = OPERATIONS.filter(hasInput).map(({ operationId }) => operationId);
    expect(dtos.map(([operation]) => operation)).toEqual(operations);
    expect(dtos.filter(([, dto]) => dto === Object).map(([operation]) => operation)).toEqual([]);
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
