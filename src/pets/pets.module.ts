import { Module } from '@nestjs/common';
import { PetPages } from './domain/pet-pages';
import { PetRepository } from './domain/pet.repository';
import { PetsController } from './http/pets.controller';
import { PostgresPetPages } from './persistence/postgres-pet-pages';
import { PostgresPetRepository } from './persistence/postgres-pet.repository';
import { PetsService } from './pets.service';

@Module({
  controllers: [PetsController],
  providers: [
    PetsService,
    { provide: PetRepository, useClass: PostgresPetRepository },
    { provide: PetPages, useClass: PostgresPetPages },
  ],
  exports: [PetsService],
})
export class PetsModule {}
