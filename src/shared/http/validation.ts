/**
 * What is used of class-validator, without its index: that loads 320 more files, for phone numbers and the like, which cost
 * 100 ms at every start and 10 MiB for good. Its other decorators can be used beside these.
 */
export { IsIn } from 'class-validator/cjs/decorator/common/IsIn';
export { IsOptional } from 'class-validator/cjs/decorator/common/IsOptional';
export { ValidateBy } from 'class-validator/cjs/decorator/common/ValidateBy';
export { Validator } from 'class-validator/cjs/validation/Validator';
