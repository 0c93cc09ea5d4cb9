import { Module } from '@nestjs/common';
import { DemoPets } from './demo-pets';
import { PetRepository } from './domain/pet.repository';
import { PetsController } from './http/pets.controller';
import { TypeOrmPetRepository } from './persistence/typeorm-pet.repository';
import { PetsService } from './pets.service';

@Module({
  controllers: [PetsController],
  providers: [PetsService, DemoPets, { provide: PetRepository, useClass: TypeOrmPetRepository }],
  exports: [PetsService],
})
export class PetsModule {}
