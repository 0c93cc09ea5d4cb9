import type { INestApplication } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type OperationObject,
  type ResponseObject,
  type SchemaObject,
  SwaggerModule,
} from '@nestjs/swagger';
import type { Settings } from './config/settings';
import { VERSION } from './config/version';
import type { ErrorCode } from './shared/domain/error-codes';
import { CODES_EXTENSION, errorResponses } from './shared/http/api-errors';
import {
  CHALLENGE_HEADER,
  COMMON_HEADERS,
  DEPRECATION_HEADERS,
  REPLAYED_HEADER,
  RETRY_AFTER_HEADER,
} from './shared/http/api-headers';
import { ErrorCatalog } from './shared/http/error-catalog';
import { ErrorResponse } from './shared/http/error.response';
import { applyDeclarations, groupDescription } from './shared/http/openapi-decorators';

const VERSION_PREFIX = '/v1';
const KEY_DESCRIPTION = 'An API key, which the operator issues: `pets_live_…` in production, `pets_test_…` elsewhere.';

/** The OpenAPI document of version 1: what the controllers declare, and what holds for every operation. */
export function createOpenApiDocument(app: INestApplication, settings: Settings): OpenAPIObject {
  applyDeclarations(swagger);
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Pet store')
    .setDescription(
      'Manage the animals of a pet store. Send an API key with every request, as a bearer credential: ' +
        '`Authorization: Bearer <API_KEY>`. Every response says how much of the plan is left.',
    )
    .setVersion(VERSION)
    .setContact('Pet store support', 'https://petstore.example.com/support', 'support@petstore.example.com')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'API key', description: KEY_DESCRIPTION }, 'apiKey')
    .addSecurityRequirements('apiKey');
  serversOf(settings).forEach(([url, description]) => builder.addServer(url, description));
  const document = SwaggerModule.createDocument(app, builder.build(), { extraModels: [ErrorResponse] });
  document.servers = document.servers?.map((server) => ({ ...server, 'x-internal': false }));
  const schemas = (document.components ??= {}).schemas ?? {};
  document.paths = Object.fromEntries(
    Object.entries(document.paths)
      .filter(([path]) => path.startsWith(`${VERSION_PREFIX}/`))
      .map(([path, item]) => [path.slice(VERSION_PREFIX.length), item]),
  );
  const operations = operationsOf(document);
  document.tags = [...new Set(operations.flatMap(({ tags = [] }) => tags))].sort().map((name) => ({
    name,
    description: groupDescription(name) ?? '',
  }));
  const { code } = (schemas.Error as SchemaObject).properties as Record<'code', SchemaObject>;
  code.examples = [...app.get(ErrorCatalog).codes];
  for (const operation of operations) {
    operation.deprecated = 'x-deprecated-sunset' in operation || undefined;
    addCommonResponses(operation, app.get(ErrorCatalog));
    nameTitledSchemas(operation, schemas);
  }
  return document;
}

function serversOf({ environment, publicBaseUrl, stagingBaseUrl, baseUrl }: Settings): [string, string][] {
  const servers: [string | undefined, string][] = [
    [environment === 'development' && baseUrl !== publicBaseUrl ? baseUrl : undefined, 'Local'],
    [publicBaseUrl, 'Production'],
    [stagingBaseUrl, 'Staging'],
  ];
  const known = servers.filter((server): server is [string, string] => server[0] !== undefined);
  return known.length > 0 ? known : [[baseUrl, 'This service']];
}

function operationsOf(document: OpenAPIObject): OperationObject[] {
  return Object.values(document.paths).flatMap(({ get, post, put, patch, delete: remove }) =>
    [get, post, put, patch, remove].filter((operation) => operation !== undefined),
  );
}

/** What every operation can answer, and the headers every answer carries. */
function addCommonResponses(operation: OperationObject, catalog: ErrorCatalog): void {
  const { [CODES_EXTENSION]: declared = [] } = operation as { [CODES_EXTENSION]?: ErrorCode[] };
  const common = errorResponses(catalog, [
    ...declared,
    'malformed_url',
    'malformed_request',
    'missing_api_key',
    'invalid_api_key',
    'expired_api_key',
    'request_timeout',
    'uri_too_long',
    'rate_limit_exceeded',
    'daily_quota_exceeded',
    'key_temporarily_banned',
    'too_many_auth_failures',
    'headers_too_large',
    'internal_error',
    'service_unavailable',
  ]);
  Reflect.deleteProperty(operation, CODES_EXTENSION);
  const responses = { ...operation.responses, ...common };
  const isIdempotent = operation.parameters?.some(
    (parameter) => 'in' in parameter && parameter.name === 'Idempotency-Key',
  );
  operation.responses = Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { headers, ...rest } = response as ResponseObject;
      return [
        status,
        {
          ...rest,
          headers: {
            ...COMMON_HEADERS,
            ...headers,
            ...(status === '401' && CHALLENGE_HEADER),
            ...((status === '429' || status === '503') && RETRY_AFTER_HEADER),
            ...(isIdempotent && status.startsWith('2') && REPLAYED_HEADER),
            ...(operation.deprecated && !['401', '408', '429', '431'].includes(status) && DEPRECATION_HEADERS),
          },
        },
      ];
    }),
  );
}

/** Moves a response's schema that has a title to the document's named schemas, where clients find it by that name. */
function nameTitledSchemas(operation: OperationObject, schemas: Record<string, unknown>): void {
  for (const response of Object.values(operation.responses) as ResponseObject[]) {
    for (const content of Object.values(response.content ?? {})) {
      const schema = content.schema as SchemaObject;
      if (schema.title !== undefined) {
        schemas[schema.title] = schema;
        content.schema = { $ref: `#/components/schemas/${schema.title}` };
      }
    }
  }
}
