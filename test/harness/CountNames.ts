/** Names of the numbers that CountWork.ts adds up over all threads. */
export const countNames = ["threads", "messages", "parses", "scrubbedCharacters", "hmacs"] as const
export type CountName = (typeof countNames)[number]
