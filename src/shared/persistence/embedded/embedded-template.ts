import { createEmbeddedTemplate } from './embedded-database';

void createEmbeddedTemplate();
