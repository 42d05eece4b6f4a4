/* Messages for programs that exceed the limits of host calls, in their isolate and in the process. */

/** Returns the message of a program with too many host calls. */
export const tooManyCalls = (max: number): string =>
  `The program called functions of the service more than ${max} times`;

/** Returns the message of a program whose host calls have arguments and results of too many bytes. */
export const tooManyBytes = (max: number): string => `The program exchanged more than ${max} bytes with the service`;
