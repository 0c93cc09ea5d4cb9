import { createApp } from '../app.setup';
import { loadSettings } from '../config/settings';
import { createOpenApiDocument } from '../openapi';
import { stringifyJson } from '../shared/http/json';

/** The OpenAPI document of the service, as text. In a file of its own, as no other command needs the HTTP layer. */
export async function openApiText(env: NodeJS.ProcessEnv): Promise<string> {
  const settings = loadSettings(env);
  return `${stringifyJson(createOpenApiDocument(await createApp(settings), settings), 2)}\n`;
}
