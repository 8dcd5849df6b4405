import { expect, it } from "vitest"
import { guideMarkdown } from "../../src/text/DeveloperGuide.ts"
import { developerGuide as english } from "../../src/text/en/DeveloperGuide.ts"
import { developerGuide as chinese } from "../../src/text/zh/DeveloperGuide.ts"

it.each([
  [english, "developers.md"],
  [chinese, "developers.zh.md"]
])("docs/%s.md has the text of the page", async (guide, file) => {
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
