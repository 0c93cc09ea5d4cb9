import { validate } from 'class-validator';
import { IsText } from './is-text.decorator';

class TagsDto {
  @IsText({ maxLength: 5 }, { each: true })
  tags: unknown;
}

describe('An array of texts', () => {
  it.each([
    [['ok', '日本'], undefined],
    [[], undefined],
    [undefined, 'tags is required'],
    ['ok', 'tags must be an array'],
    [['ok', 5], 'tags[1] must be a string'],
    [['ok', 'a\0'], 'tags[1] must not contain NUL or a lone surrogate'],
    [['too long', 'ok'], 'tags[0] must be 1 to 5 characters long'],
  ])('is validated item by item: %j', async (tags, message) => {
    const [error] = await validate(Object.assign(new TagsDto(), { tags }));
    expect(error?.constraints?.validateWith).toBe(message);
  });
});
