import { isDeepStrictEqual } from 'node:util';
import type { INestApplication, Type } from '@nestjs/common';
import { ApplicationConfig, Reflector } from '@nestjs/core';
import { AuthModuleOptions } from '@nestjs/passport';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type OperationObject,
  type ResponseObject,
  type SchemaObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { getAuthStrategies } from '../auth';
import { BRAND, LIVE_KEY_PREFIX, TEST_KEY_PREFIX } from '../config/brand';
import { getDocsUrl, removeVersion, type Settings } from '../config/settings';
import { VERSION } from '../config/version';
import { IDEMPOTENT_METADATA } from '../idempotency';
import type { ErrorCode } from '../shared/domain/error-codes';
import {
  ERROR_CODES_METADATA,
  createErrorExamples,
  createErrorResponses,
  OMITTED_ERROR_CODES_METADATA,
} from '../shared/openapi/api-errors';
import { API_GROUP_METADATA, type ApiGroupMetadata } from '../shared/openapi/api-group.decorator';
import {
  CHALLENGE_HEADER,
  COMMON_HEADERS,
  createHeaderComponents,
  DEPRECATION_HEADERS,
  ERROR_DEPRECATION_HEADERS,
  HELP_HEADER,
  REPLAYED_HEADER,
  REQUEST_ID_PARAMETER,
  RETRY_AFTER_HEADER,
  SCOPE_CHALLENGE_HEADER,
} from '../shared/openapi/api-headers';
import { isPublic } from '../shared/http/access/public.decorator';
import { getRequiredScope } from '../shared/http/access/require-scope.decorator';
import { MAX_URL_LENGTH } from '../shared/http/access/url-check';
import { ErrorCatalog } from '../shared/http/errors/error-catalog';
import { ErrorDto } from '../shared/http/errors/error.dto';
import { discoverRoutes, getDeclaredVersions } from '../shared/http/routing/api-versions';
import { DEPRECATION_METADATA, type Deprecation } from '../versioning';
import { addExamples, shareComponents } from './components';
import {
  createOperationIds,
  type Handler,
  hideOtherRoutes,
  markHandlers,
  numberOperationIds,
  takeHandler,
} from './handlers';
import { addSecurity, API_KEY_SCHEME } from './security';

/** The methods of OpenAPI 3.1 (section 4.8.9). */
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
/** Any text that a URL can have. */
const PATH_SCHEMA: SchemaObject = { type: 'string', maxLength: MAX_URL_LENGTH, pattern: '.*' };

const KEY_DESCRIPTION = `An API key issued by the operator: \`${LIVE_KEY_PREFIX}…\` in production, \`${TEST_KEY_PREFIX}…\` elsewhere.`;

/** Returns the description of the API. Its sections link to the guides if they are served. */
function createDescription(docs: string | undefined): string {
  const formatSection = (title: string, text: string, guide: string, label: string) =>
    `## ${title}\n\n${text}${docs === undefined ? '' : ` [${label}](${docs}/${guide})`}`;
  return [
    'Manage the animals of a pet store.',
    formatSection(
      'API keys',
      'Send an API key with every request, as a bearer token: `Authorization: Bearer <API_KEY>`.',
      'getting-started',
      'Make a first call',
    ),
    formatSection(
      'Rate limits',
      'Every response reports the remaining requests of your plan in `X-RateLimit-Remaining`. After a 429, wait for `Retry-After`.',
      'api#rate-limits',
      'Plans, windows and bans',
    ),
    formatSection(
      'Pagination',
      'Lists are paginated. Follow the `Link` header with `rel="next"` until there is none.',
      'getting-started#pagination',
      'An example of pagination',
    ),
    formatSection(
      'Retries',
      'Requests that create a resource can be retried safely after a lost response or a 503 if they have an `Idempotency-Key`.',
      'getting-started#safe-retries',
      'Safe retries',
    ),
    formatSection(
      'Errors',
      'Every error is `{code, message, status}`. In programs, use `code`; new codes may be added.',
      'errors',
      'All codes',
    ),
  ].join('\n\n');
}

/** Creates the OpenAPI document of a version from the controllers and the guarantees of every operation. */
export function createOpenApiDocument(app: INestApplication, settings: Settings, version = '1'): OpenAPIObject {
  const docs = getDocsUrl(settings);
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(BRAND.title)
    .setDescription(createDescription(docs))
    .setVersion(version === '1' ? VERSION : version)
    .setContact(`${BRAND.title} support`, settings.docsSupportUrl ?? BRAND.supportUrl, BRAND.supportEmail)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', bearerFormat: 'API key', description: KEY_DESCRIPTION },
      API_KEY_SCHEME,
    )
    .addSecurityRequirements(API_KEY_SCHEME);
  if (docs !== undefined) {
    builder.setExternalDoc('Guides: first call, errors, rate limits, versions', docs);
  }
  const baseUrl = `${removeVersion(settings.baseUrl)}/v${version}`;
  listServers(settings).forEach(([url, description]) =>
    builder.addServer(`${removeVersion(url)}/v${version}`, description),
  );
  const routes = discoverRoutes(app);
  const ownRoutes = routes.filter((route) => {
    const versions = getDeclaredVersions(route);
    // A version-neutral path may contain the version.
    return versions.length === 0 || versions.includes(version);
  });
  const handlers = markHandlers(ownRoutes);
  const document = hideOtherRoutes(routes, ownRoutes, () =>
    SwaggerModule.createDocument(app, builder.build(), {
      extraModels: [ErrorDto],
      operationIdFactory: createOperationIds(),
    }),
  );
  document.servers = document.servers?.map((server) => ({ ...server, 'x-internal': false }));
  const catalog = app.get(ErrorCatalog);
  document.components = {
    ...document.components,
    headers: createHeaderComponents(baseUrl),
    examples: createErrorExamples(catalog),
  };
  const schemas = document.components.schemas ?? {};
  const prefix = `/v${version}`;
  document.paths = Object.fromEntries(
    Object.entries(document.paths)
      .filter(([path]) => path.startsWith(`${prefix}/`))
      .map(([path, item]) => [path.slice(prefix.length), completePath(path, item)]),
  );
  const { code } = (schemas.Error as SchemaObject).properties as Record<'code', SchemaObject>;
  code.examples = [...catalog.codes];
  const operations = listOperations(document);
  numberOperationIds(operations.map(([, operation]) => operation));
  const documented = new Set<object>();
  for (const [method, operation] of operations) {
    const handler = takeHandler(operation, handlers);
    if (handler !== undefined) {
      const [reflector, targets] = [app.get(Reflector), [handler.handler, ...handler.controllers] as Type[]];
      const isOpen = isPublic(reflector, targets);
      // The global guards let all requests to public operations pass.
      addDeclarations(operation, app, handler, settings, isOpen ? [] : app.get(ApplicationConfig).getGlobalGuards());
      addSecurity(document, operation, isOpen ? [] : getAuthStrategies(reflector, targets, app.get(AuthModuleOptions)));
      if (!isOpen) {
        const scopes = handler.controllers.map((each) => getRequiredScope(method.toUpperCase(), handler.handler, each));
        const [scope, ...others] = new Set(scopes);
        // Unknown if controllers that inherit the handler differ.
        if (others.length === 0) {
          Object.assign(operation, { 'x-required-scope': scope });
        }
      }
      handler.controllers.forEach((each) => documented.add(each));
    }
    nameTitledSchemas(operation, schemas);
    addExamples(operation, schemas);
  }
  const tags = listTags(
    app.get(Reflector),
    ownRoutes.map(({ controller }) => controller).filter((controller) => documented.has(controller)),
  );
  document.tags = [...tags, ...(document.tags ?? []).filter(({ name }) => !tags.some((tag) => tag.name === name))];
  shareComponents(
    document,
    operations.map(([, operation]) => operation),
  );
  return document;
}

/**
 * Leaves out methods that OpenAPI 3.1 lacks, such as SEARCH, which `@All()` adds, and declares parameters of the path that no handler
 * declares: wildcards.
 */
function completePath(path: string, item: object): object {
  const known = Object.entries<OperationObject>({ ...item }).filter(([method]) => METHODS.has(method));
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  for (const [, operation] of known) {
    const parameters = operation.parameters ?? [];
    const declared = parameters.flatMap((it) => ('in' in it && it.in === 'path' ? it.name : []));
    const missing = names.filter((name) => !declared.includes(name));
    operation.parameters = [
      ...parameters,
      ...missing.map((name) => ({ name, in: 'path' as const, required: true, schema: PATH_SCHEMA })),
    ];
  }
  return Object.fromEntries(known);
}

/** Lists the groups of controllers, each name once. */
function listTags(reflector: Reflector, controllers: readonly Type[]): ApiGroupMetadata[] {
  const groups = controllers.flatMap(
    (controller) => reflector.get<ApiGroupMetadata | undefined>(API_GROUP_METADATA, controller) ?? [],
  );
  return groups.filter(({ name }, index) => groups.findIndex((group) => group.name === name) === index);
}

/** Lists the servers that have the API, this one first. */
function listServers({ environment, publicBaseUrl, stagingBaseUrl, baseUrl }: Settings): [string, string][] {
  const others: [string | undefined, string][] = [
    [publicBaseUrl, 'Production'],
    [stagingBaseUrl, 'Staging'],
  ];
  const known = others.filter((server): server is [string, string] => server[0] !== undefined);
  const own = known.find(([url]) => url === baseUrl) ?? [
    baseUrl,
    environment === 'development' ? 'Local' : 'This service',
  ];
  return [own, ...known.filter((server) => server !== own)];
}

function listOperations(document: OpenAPIObject): [method: string, operation: OperationObject][] {
  return Object.values(document.paths).flatMap((item) => Object.entries(item as Record<string, OperationObject>));
}

/** Adds the declarations of the service's own decorators, and the errors and headers of every operation. */
function addDeclarations(
  operation: OperationObject,
  app: INestApplication,
  { handler, controllers }: Handler,
  { docsEnabled }: Settings,
  guards: readonly object[],
): void {
  const reflector = app.get(Reflector);
  const deprecation = reflector.get<Deprecation | undefined>(DEPRECATION_METADATA, handler as Type);
  const isIdempotent = reflector.get<boolean | undefined>(IDEMPOTENT_METADATA, handler as Type);
  if (deprecation !== undefined) {
    Object.assign(operation, { deprecated: true, 'x-deprecated-sunset': deprecation.sunset });
  }
  const targets = [handler, ...controllers];
  const enhancers = [...guards, ...targets.flatMap(listEnhancers)].map((enhancer) =>
    typeof enhancer === 'function' ? enhancer : enhancer.constructor,
  );
  const omitted = reflector.get<ErrorCode[] | undefined>(OMITTED_ERROR_CODES_METADATA, handler as Type) ?? [];
  const declared = [...targets, ...enhancers].flatMap(
    (target) => reflector.get<ErrorCode[] | undefined>(ERROR_CODES_METADATA, target as Type) ?? [],
  );
  const errors = createErrorResponses(app.get(ErrorCatalog), [
    ...declared.filter((code) => !omitted.includes(code)),
    'malformed_url',
    'malformed_request',
    'request_timeout',
    'uri_too_long',
    'headers_too_large',
    'internal_error',
    'not_implemented',
    'service_unavailable',
  ]);
  operation.parameters = [...(operation.parameters ?? []), REQUEST_ID_PARAMETER];
  operation.responses = Object.fromEntries(
    Object.entries({ ...operation.responses, ...errors }).map(([status, response]) => {
      const { headers, ...rest } = addOwnError(
        response as ResponseObject,
        operation.responses[status] as ResponseObject,
      );
      return [
        status,
        {
          ...rest,
          headers: {
            ...COMMON_HEADERS,
            ...headers,
            ...(status === '401' && CHALLENGE_HEADER),
            ...(status === '403' && SCOPE_CHALLENGE_HEADER),
            ...((status === '429' || status === '503') && RETRY_AFTER_HEADER),
            ...(isIdempotent && status.startsWith('2') && REPLAYED_HEADER),
            ...(deprecation && getDeprecationHeaders(status)),
            ...(docsEnabled && !isSuccess(status) && HELP_HEADER),
          },
        },
      ];
    }),
  );
}

/** Adds what a decorator such as `@ApiBadRequestResponse()` says about the same status. */
function addOwnError(response: ResponseObject, own: ResponseObject | undefined): ResponseObject {
  const [[mediaType, { schema, ...rest }] = ['', {}]] = Object.entries(response.content ?? {});
  const ownSchema = own?.content?.[mediaType]?.schema;
  if (own === undefined || own === response || schema === undefined) {
    return response;
  }
  return {
    ...response,
    description: own.description || response.description,
    content: { [mediaType]: { ...rest, schema: ownSchema === undefined ? schema : { oneOf: [ownSchema, schema] } } },
  };
}

/** Lists the guards, interceptors and pipes that decorators add to a handler or controller. */
function listEnhancers(target: object): object[] {
  return Reflect.getMetadataKeys(target)
    .filter((key) => !String(key).startsWith('design:'))
    .flatMap((key) => Reflect.getMetadata(key, target) as unknown)
    .filter((value) => typeof value === 'function' || (typeof value === 'object' && value !== null));
}

/** Errors that occur before the interceptor runs, in the HTTP layer or in a guard, have no deprecation headers. */
function getDeprecationHeaders(status: string) {
  if (isSuccess(status)) {
    return DEPRECATION_HEADERS;
  }
  return ['401', '408', '429', '431', '501'].includes(status) ? undefined : ERROR_DEPRECATION_HEADERS;
}

/** Whether it is a status of a response that is no error, such as 304. */
function isSuccess(status: string): boolean {
  return /^[23]/.test(status);
}

/** Moves response schemas with a title to the named schemas, where client generators find them, unless another schema has that name. */
function nameTitledSchemas(operation: OperationObject, schemas: Record<string, unknown>): void {
  for (const response of Object.values(operation.responses) as ResponseObject[]) {
    for (const content of Object.values(response.content ?? {})) {
      const schema = content.schema as SchemaObject | undefined;
      const isFree = (name: string) => /^[\w.-]+$/.test(name) && isDeepStrictEqual(schemas[name] ?? schema, schema);
      if (schema?.title !== undefined && isFree(schema.title)) {
        schemas[schema.title] = schema;
        content.schema = { $ref: `#/components/schemas/${schema.title}` };
      }
    }
  }
}
