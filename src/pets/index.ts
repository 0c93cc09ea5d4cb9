export { PetsModule } from './pets.module';
