import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import type { Principal } from '../../shared/domain/principal';
import { Authenticator } from '../authenticator';

@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly authenticator: Authenticator) {
    super();
  }

  validate(token: string): Promise<Principal> {
    return this.authenticator.authenticate(token);
  }
}
