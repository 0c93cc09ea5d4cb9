import { makeEmbeddedTemplate } from './embedded-database';

void makeEmbeddedTemplate();
