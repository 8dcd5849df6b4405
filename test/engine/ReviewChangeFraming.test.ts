/** A vulnerability is published whatever its author writes about the change; `npm run bench -- framing` has a hundred of them. */
import { expect, it } from "vitest"
import { framings, makeFramedChange } from "./FramedChanges.ts"

it.each([0, 5, 10, 15])("planted fault %i is published in every framing, from the same prompt", async (number) => {
  const change = makeFramedChange(number)
  const prompts = new Set<string>()
  for (const framing of framings) {
    const { isPublished, prompts: sent } = await change.review(framing, "auto")
    expect([framing, isPublished]).toEqual([framing, true])
    prompts.add(sent)
  }
  expect(prompts.size).toBe(1)
  const unread = await Promise.all(framings.map((framing) => change.review(framing, "off")))
  expect(unread.map(({ isPublished }) => isPublished)).not.toContain(true)
})
