/** Texts share messages, within limits of characters and items. */
import { describe, expect, it } from "vitest"
import { inMessages, messageItems } from "../../../src/engine/threads/Messages.ts"

const lengths = (...items: ReadonlyArray<number>) => inMessages(items, (length) => length)

describe("texts for a thread", () => {
  it("share a message in their order", () => {
    expect(lengths(1, 2, 3)).toEqual([[1, 2, 3]])
    expect(lengths()).toEqual([])
  })

  it("have messages of limited length, and a long one has its own", () => {
    expect(lengths(200_000, 62_144, 1, 300_000, 5)).toEqual([[200_000, 62_144], [1], [300_000], [5]])
  })

  it("have messages of a limited number", () => {
    const many = Array.from({ length: messageItems + 1 }, () => 0)
    expect(lengths(...many).map(({ length }) => length)).toEqual([messageItems, 1])
  })
})
