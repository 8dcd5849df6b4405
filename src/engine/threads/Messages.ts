/** Groups what is sent to a thread, or read for it: few messages, of which none takes long to copy. */

/** Characters of one message. The copy of as many takes less than half a millisecond. */
const maxCharacters = 262_144
/** Items of one message, and files that are read at the same time: their requests reach git together. */
export const messageItems = 16

export const inMessages = <A>(
  items: ReadonlyArray<A>,
  length: (item: A) => number
): ReadonlyArray<ReadonlyArray<A>> => {
  const messages: Array<Array<A>> = []
  let room = 0
  for (const item of items) {
    const last = messages.at(-1)
    room -= length(item)
    if (last !== undefined && room >= 0 && last.length < messageItems) {
      last.push(item)
      continue
    }
    messages.push([item])
    room = maxCharacters - length(item)
  }
  return messages
}
