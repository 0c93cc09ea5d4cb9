import { Module } from '@nestjs/common';
import { DemoPets } from './demo-pets';
import { PetRepository } from './domain/pet.repository';
import { PetsController } from './http/pets.controller';
import { PostgresPetListing } from './persistence/postgres-pet-listing';
import { TypeOrmPetRepository } from './persistence/typeorm-pet.repository';
import { PetListing } from './pet-listing';
import { PetsService } from './pets.service';

@Module({
  controllers: [PetsController],
  providers: [
    PetsService,
    DemoPets,
    { provide: PetRepository, useClass: TypeOrmPetRepository },
    { provide: PetListing, useClass: PostgresPetListing },
  ],
  exports: [PetsService],
})
export class PetsModule {}
