/** The part of a description that the service writes: nothing of what people wrote changes, and nothing becomes live. */
import { expect, it } from "vitest"
import { fillDescription } from "../../src/outputs/DescriptionBlock.ts"

const begin = "<!-- aicr:describe -->"
const end = "<!-- /aicr:describe -->"

it("replaces what is between the markers, and again", () => {
  const once = fillDescription(`Mine  \r\n${begin}${end}\n\n- [ ] later ${begin}`, "One.")
  expect(once).toBe(`Mine  \r\n${begin}\n\nOne.\n\n${end}\n\n- [ ] later ${begin}`)
  expect(fillDescription(once ?? "", "Two.")).toBe(`Mine  \r\n${begin}\n\nTwo.\n\n${end}\n\n- [ ] later ${begin}`)
  expect(fillDescription(once ?? "", "One.")).toBe(once)
})

it.each([
  ["no markers", "Mine"],
  ["no text", ""],
  ["one marker", `${begin} Mine`],
  ["markers in the other order", `${end}${begin}`],
  ["a line that GitLab would execute", `/approve\n${begin}${end}`],
  ["one below the markers", `${begin}${end}\n  /Merge when ready`],
  ["more than hosts accept", `${"x".repeat(60_000)}${begin}${end}`]
])("writes nothing into a description with %s", (_, description) => {
  expect(fillDescription(description, "Text")).toBeUndefined()
})

it("takes time in proportion to the description", () => {
  const started = performance.now()
  for (const text of [
    `${" ".repeat(50_000)}${begin}${end}`,
    `${begin}${end}${"\n \t".repeat(15_000)}`,
    begin.repeat(2000)
  ])
    fillDescription(text, "Text")
  expect(performance.now() - started).toBeLessThan(500)
})
