/**
 * The page for developers whose changes are reviewed. Its content is data in each language; the service serves it as a page without login
 * (src/ingress/DevelopersPage.ts), and docs/developers.md has the same as Markdown. In a text, backquotes mark code. Pure.
 */

interface GuideTable {
  readonly head: readonly [string, string]
  readonly rows: ReadonlyArray<readonly [string, string]>
}

interface GuideSection {
  /** Anchor of the section. */
  readonly id: string
  readonly title: string
  readonly paragraphs?: ReadonlyArray<string>
  readonly list?: ReadonlyArray<string>
  readonly table?: GuideTable
}

export interface DeveloperGuide {
  readonly language: string
  readonly title: string
  readonly intro: string
  readonly sections: ReadonlyArray<GuideSection>
}

const cell = (text: string): string => text.replaceAll("|", "\\|")

const renderTable = ({ head, rows }: GuideTable): string =>
  [head, ["---", "---"] as const, ...rows].map(([left, right]) => `| ${cell(left)} | ${cell(right)} |`).join("\n")

/** Renders the guide as the document of the repository. */
export const guideMarkdown = ({ intro, sections, title }: DeveloperGuide): string =>
  [
    `# ${title}`,
    intro,
    ...sections.flatMap(({ list = [], paragraphs = [], table, title: name }) => [
      `## ${name}`,
      ...paragraphs,
      ...(list.length === 0 ? [] : [list.map((item) => `- ${item}`).join("\n")]),
      ...(table === undefined ? [] : [renderTable(table)])
    ])
  ].join("\n\n") + "\n"
