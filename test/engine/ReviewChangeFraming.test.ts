/** A vulnerability is published whatever its author writes about the change; `npm run bench -- framing` has a hundred of them. */
import { expect, it } from "vitest"
import { isPairTried } from "../harness/Samples.ts"
import { framings as all, makeFramedChange } from "./FramedChanges.ts"

const planted = [0, 5, 10, 15]

it.each(planted)("planted fault %i is published in every framing, from the same prompt", async (number) => {
  // Each framing with one of the faults; with AICR_TEST_TEXTS=all with each of them.
  const framings = all.filter((_, at) => isPairTried("AICR_TEST_TEXTS", planted.indexOf(number), at, planted.length))
  expect(framings.length).toBeGreaterThan(2)
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
