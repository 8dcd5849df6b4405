import { expect, it } from "vitest"
import { guideMarkdown } from "../../src/text/DeveloperGuide.ts"
import { developerGuide as english } from "../../src/text/en/DeveloperGuide.ts"
import { developerGuide as chinese } from "../../src/text/zh/DeveloperGuide.ts"

it.each([
  { guide: english, file: "developers.md" },
  { guide: chinese, file: "developers.zh.md" }
])("docs/$file has the text of the page", async ({ file, guide }) => {
  await expect(guideMarkdown(guide)).toMatchFileSnapshot(`../../docs/${file}`)
})

it("has the same sections and tables in both languages", () => {
  const shape = ({ sections }: typeof english) =>
    sections.map(({ id, list = [], paragraphs = [], table }) => [
      id,
      list.length,
      paragraphs.length,
      table?.rows.length
    ])
  expect(shape(chinese)).toEqual(shape(english))
})
