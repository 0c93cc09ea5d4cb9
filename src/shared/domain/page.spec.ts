import { inspect } from 'node:util';
import { getSharedItems, mapItems, SharedItems } from './page';

class Pet {
  constructor(public name: string) {}
}

class PetDto {
  name: string;

  constructor(pet: Pet) {
    this.name = pet.name;
  }
}

describe('The items of a page', () => {
  const create = jest.fn(() => [new Pet('Rex'), new Pet('Mia')]);
  const shared = new SharedItems(create);
  const NAMES = [{ name: 'Rex' }, { name: 'Mia' }];

  beforeEach(() => create.mockClear());

  it.each<[string, (pets: Pet[]) => unknown, unknown]>([
    [
      'is one for Array.isArray and instanceof',
      (pets) => Array.isArray(pets) && pets instanceof Array && pets.length > 0,
      true,
    ],
    ['has indices', (pets) => [0 in pets, pets[1], pets.at(0), 2 in pets], [true, NAMES[1], NAMES[0], false]],
    ['is iterable', (pets) => [...pets], NAMES],
    ['has keys', (pets) => Object.keys(pets), ['0', '1']],
    ['has the methods of arrays', (pets) => pets.map(({ name }) => name).concat('Tom'), ['Rex', 'Mia', 'Tom']],
    ['is spread by concat', (pets) => ([] as Pet[]).concat(pets), NAMES],
    ['is written as JSON', (pets) => JSON.stringify({ pets }), JSON.stringify({ pets: NAMES })],
    ['is inspected', (pets) => inspect(pets), inspect([new Pet('Rex'), new Pet('Mia')])],
    ['equals an array', (pets) => pets, NAMES],
    [
      'can be changed',
      (pets) => [pets.push(new Pet('Tom')), pets.reverse()[0], pets.pop()],
      [3, { name: 'Tom' }, NAMES[0]],
    ],
    ['can be emptied', (pets) => ((pets.length = 0), pets), []],
    ['can be frozen', (pets) => Object.isFrozen(Object.freeze(pets)) && [...pets], NAMES],
  ])('are an array, which %s', (_, look, result) => {
    const pets = shared.toArray();
    expect(look(pets)).toEqual(result);
    expect(create).toHaveBeenCalledTimes(1);
    expect(getSharedItems(pets)).toBeUndefined();
  });

  it('are not created by awaiting them, nor by looks for what no array has', async () => {
    const pets = mapItems(await Promise.resolve(shared.toArray()), PetDto);
    const names = ['then', 'pipe', 'getReader', 'buffer', Symbol.toStringTag, Symbol.asyncIterator];
    expect(names.map((name) => Reflect.get(pets, name) as unknown)).toEqual(names.map(() => undefined));
    expect(Object.prototype.toString.call(pets)).toBe('[object Array]');
    expect(create).not.toHaveBeenCalled();
  });

  it('are shared by the arrays that nobody has looked at, also as objects of a class', () => {
    const [first, second] = [shared.toArray(), shared.toArray()];
    expect(getSharedItems(first)).toBe(shared);
    expect(getSharedItems(mapItems(first, PetDto))).toBe(getSharedItems(mapItems(second, PetDto)));
    expect(mapItems(first, PetDto)[0]).toBeInstanceOf(PetDto);
  });

  it('are never seen as another reader changed them', () => {
    const [changed, other] = [shared.toArray(), shared.toArray()];
    Object.assign(changed[0] ?? {}, { name: 'changed' });
    changed.pop();
    expect(mapItems(changed, PetDto)).toEqual([{ name: 'changed' }]);
    for (const pets of [other, mapItems(shared.toArray(), PetDto)]) {
      expect(pets).toEqual(NAMES);
    }
  });
});
