import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { parseJson } from '../../json/json';
import { IsJsonObject } from './is-json-object.decorator';

class LabelsDto {
  @IsJsonObject({ maxBytes: 80 })
  labels: unknown;
}

describe('A JSON object of any content', () => {
  const read = async (text: string) => {
    const dto = plainToInstance(LabelsDto, parseJson(`{"labels":${text}}`));
    const [error] = await validate(dto);
    return { labels: dto.labels, problem: error?.constraints?.validateWith };
  };

  it.each(['{}', '{"a":[1,null,{"b":0.5}]}', '{"toString":{"valueOf":1}}', '{"path":"C:\\\\u0000"}'])(
    'is kept as it is: %s',
    async (text) => {
      const { labels, problem } = await read(text);
      expect([JSON.stringify(labels), problem]).toEqual([text, undefined]);
    },
  );

  it.each([
    ['[1]', 'must be a JSON object'],
    ['null', 'must be a JSON object'],
    ['{"a":[9223372036854775807]}', 'must not contain integers beyond 2^53, or numbers that are too large'],
    ['{"a":1e400}', 'must not contain integers beyond 2^53, or numbers that are too large'],
    ['{"a":"b\\u0000"}', 'must not contain NUL or a lone surrogate'],
    ['{"\\\\\\ud800":1}', 'must not contain NUL or a lone surrogate'],
    [`{"a":"${'b'.repeat(80)}"}`, 'must be at most 80 bytes long'],
  ])('is rejected if a column cannot store it: %s', async (text, problem) => {
    expect((await read(text)).problem).toBe(`labels ${problem}`);
  });
});
