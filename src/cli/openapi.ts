import { createApp } from '../app.setup';
import { loadSettings, type Settings } from '../config/settings';
import { createOpenApiDocument } from '../documentation';
import { stringifyJson } from '../shared/json/json';

/**
 * Returns the OpenAPI document of a version as text. It is in a separate file because no other command needs the HTTP layer.
 * @returns undefined if the API has no such version
 */
export async function generateOpenApiText(env: NodeJS.ProcessEnv, version: string): Promise<string | undefined> {
  const settings: Settings = { ...loadSettings(env), logLevel: 'silent' };
  const app = await createApp(settings);
  return app.getHttpAdapter().getInstance().apiVersions.has(version)
    ? `${stringifyJson(createOpenApiDocument(app, settings, version), 2)}\n`
    : undefined;
}
