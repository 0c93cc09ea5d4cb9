import { createApp } from '../app.setup';
import { loadSettings, type Settings } from '../config/settings';
import { createOpenApiDocument } from '../documentation';
import { stringifyJson } from '../shared/json/json';

/** Returns the OpenAPI document as text. It is in a separate file because no other command needs the HTTP layer. */
export async function generateOpenApiText(env: NodeJS.ProcessEnv): Promise<string> {
  const settings: Settings = { ...loadSettings(env), logLevel: 'silent' };
  return `${stringifyJson(createOpenApiDocument(await createApp(settings), settings), 2)}\n`;
}
