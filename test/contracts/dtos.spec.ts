import type { ArgumentMetadata, Type } from '@nestjs/common';
import {
  DocumentBuilder,
  getSchemaPath,
  type RequestBodyObject,
  type SchemaObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import { ONE_OF } from '../../src/shared/http/validation/at-least-one-field.decorator';
import { RequestValidationPipe } from '../../src/shared/http/validation/request-validation.pipe';
import { acceptsApiKeys, isPublic, type Operation, OPERATIONS } from '../support/operations';
import { TestService } from '../support/service';

interface RequestClass {
  /** The operation ID and the part of the request, such as `listPets: query`. */
  readonly input: string;
  readonly dto: Type<object>;
}

/** The operations that accept the API key of a test. */
const CALLED = OPERATIONS.filter((operation) => acceptsApiKeys(operation) || isPublic(operation));

/** Sends a request to every operation. @returns the types that the pipe is given for whole bodies and queries */
async function findRequestClasses(service: TestService): Promise<RequestClass[]> {
  const transform = jest.spyOn(RequestValidationPipe.prototype, 'transform');
  const key = await service.createKey();
  const found: RequestClass[] = [];
  for (const { operationId, method, path, body } of CALLED) {
    transform.mockClear();
    await service.call(method, path, { key, body });
    const isWhole = ({ type, data }: ArgumentMetadata) => data === undefined && ['body', 'query'].includes(type);
    const types = transform.mock.calls.map(([, metadata]) => metadata).filter(isWhole);
    found.push(
      ...types.map(({ type, metatype = Object }) => ({
        input: `${operationId}: ${type}`,
        dto: metatype as Type<object>,
      })),
    );
  }
  transform.mockRestore();
  return found;
}

describe('The bodies and queries of operations', () => {
  let service: TestService;
  let classes: RequestClass[];

  beforeAll(async () => {
    service = await TestService.start();
    classes = await findRequestClasses(service);
  });
  afterAll(() => service.close());

  it('are classes, not types that are erased at run time', () => {
    const documented = CALLED.flatMap(listInputs);
    const received = classes.map(({ input }) => input);
    const erased = classes.filter(({ dto }) => dto === Object).map(({ input }) => input);
    expect([
      ...documented
        .filter((input) => !received.includes(input) || erased.includes(input))
        .map(
          (input) =>
            `${input} is not validated: use a DTO class for it as a whole, such as @Query() query: ListPetsQueryDto`,
        ),
      ...received
        .filter((input) => !documented.includes(input))
        .map((input) => `${input} is not in the document: use a DTO class with documented fields`),
    ]).toEqual([]);
  });

  it('have fields that are validated, documented, and parsed as their type', () => {
    const dtos = [...new Set(classes.map(({ dto }) => dto))];
    const document = SwaggerModule.createDocument(service.app, new DocumentBuilder().build(), { extraModels: dtos });
    const problems = dtos.flatMap((dto) => {
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

/** Lists the documented body and query of an operation. A handler may read a multipart body itself. */
function listInputs({ operationId, requestBody, parameters = [] }: Operation): string[] {
  const types = Object.keys((requestBody as RequestBodyObject | undefined)?.content ?? {});
  return [
    ...(types.some((type) => !type.startsWith('multipart/')) ? [`${operationId}: body`] : []),
    ...(parameters.some((each) => 'in' in each && each.in === 'query') ? [`${operationId}: query`] : []),
  ];
}

function isBigInt({ prototype }: Type<object>, field: string): boolean {
  return Reflect.getMetadata('design:type', prototype as object, field) === BigInt;
}

function isReadAsBigInt(dto: Type<object>, field: string): boolean {
  return [1, '1'].some(
    (sent) => typeof Reflect.get(plainToInstance<object, object>(dto, { [field]: sent }), field) === 'bigint',
  );
}
