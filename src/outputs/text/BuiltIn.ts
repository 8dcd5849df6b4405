/** The built-in templates (Handlebars, Markdown). Values come from View.ts, which makes them safe for their position. */
const problemText = `{{problem.icon}} **{{problem.severity_label}}**{{#if problem.title}} · {{problem.title}}{{/if}} · \`{{problem.category_label}}\`{{#if problem.rule}} · {{problem.rule}}{{/if}}{{#if problem.missed}} · {{problem.missed}}{{/if}}

{{problem.message}}
{{#if problem.suggestion_block}}

{{problem.suggestion_block}}
{{/if}}
`

export const problemTemplate = `${problemText}
{{#if problem.why_block}}

<details>
<summary>{{labels.why}}</summary>

{{problem.why_block}}

</details>
{{/if}}

<details>
<summary>{{labels.forAgents}}</summary>

{{problem.agent_block}}

</details>
`

/** Template for a problem in Swarm, which shows HTML as text. */
export const swarmProblemTemplate = problemText

/** Template for a problem in a managed issue, without the surrounding code. */
export const issueTemplate = `### {{problem.icon}} {{problem.severity_label}}{{#if problem.title}} · {{problem.title}}{{/if}}

{{problem.place_link}} · \`{{problem.category_label}}\` · {{labels.commit}} {{vcs.head_link}}{{#if target.url}} · {{target.url}}{{/if}}

{{problem.message}}
{{#if problem.code_block}}

{{problem.code_block}}
{{/if}}
`

/** Template for a review as a chat message: without tables and collapsed sections. */
export const chatTemplate = `{{#if mentions}}
{{mentions}}

{{/if}}
{{target.place}} · {{labels.commit}} {{vcs.head_link}}

{{#if summary.skipped}}
**{{labels.skipped}}**{{labels.colon}}{{summary.skipped}}

{{/if}}
{{#if chat.text}}
{{chat.text}}

{{/if}}
{{#if counts}}
**{{summary.found}}**{{#each counts}} · {{icon}} {{label}} {{count}}{{/each}}

{{else}}
{{#unless summary.skipped}}
{{#unless summary.hidden}}
{{labels.clean}}

{{/unless}}
{{/unless}}
{{/if}}
{{#if summary.hidden}}
{{summary.hidden}}

{{/if}}
{{#each chat.problems}}
{{icon}} **{{severity_label}}**{{#if title}} · {{title}}{{/if}} · {{place}}
{{#if ../chat.full}}

{{message}}

{{/if}}
{{/each}}
{{#each notices}}

{{this}}
{{/each}}
{{#if run.url}}

[{{labels.details}}]({{run.url}})
{{/if}}
`

const plainWalkthrough = `{{#if summary.explains}}

{{#if summary.described}}
**{{summary.described}}**

{{/if}}
{{summary.text}}
{{#if summary.facts}}

{{summary.facts}}
{{/if}}
{{/if}}`

const foldedWalkthrough = `{{#if summary.folded}}

<details>
<summary>{{summary.folded}}</summary>

{{summary.text}}
{{#if summary.facts}}

{{summary.facts}}
{{/if}}

</details>
{{else}}
${plainWalkthrough}
{{/if}}`

/** Problems that only the summary lists: late ones, and those of folded kinds. */
type Unposted = "folded" | "late"

const unpostedRows = (section: Unposted): string => `{{#each ${section}.problems}}
- {{icon}} {{severity_label}} · {{title_link}}
{{/each}}
{{#if ${section}.more}}
- {{${section}.more}}
{{/if}}`

const foldedSection = (section: Unposted): string => `{{#if ${section}}}

<details>
<summary>{{${section}.title}}</summary>

${unpostedRows(section)}

</details>
{{/if}}`

const plainSection = (section: Unposted): string => `{{#if ${section}}}

{{${section}.title}}

${unpostedRows(section)}
{{/if}}`

const summaryText = (
  walkthrough: string,
  unposted: string
): string => `## {{labels.title}}{{#if summary.round}} · {{summary.round}}{{/if}}
{{#if mentions}}

{{mentions}}
{{/if}}
{{#if summary.skipped}}

**{{labels.skipped}}**{{labels.colon}}{{summary.skipped}}
{{/if}}
{{#if summary.list}}

{{summary.list}}
{{/if}}
{{#if summary.hidden}}

{{summary.hidden}}
{{/if}}
${unposted}
${walkthrough}
{{#if notices}}

### {{labels.notices}}

{{#each notices}}
- {{this}}
{{/each}}
{{/if}}
`

const footer =
  "aicr{{#if run.models}} · {{labels.model}} {{run.models}}{{/if}} · {{labels.commit}} {{vcs.head_link}}{{#if run.spent}} · {{run.spent}}{{/if}}{{#if run.url}} · [{{labels.details}}]({{run.url}}){{/if}}{{#if run.statement}} · [{{labels.statement}}]({{run.statement}}){{/if}}"

export const summaryTemplate = `${summaryText(
  foldedWalkthrough,
  `${foldedSection("late")}
${foldedSection("folded")}`
)}
<details>
<summary>{{coverage.line}}</summary>

{{#if coverage.read}}
**{{labels.read}}**{{labels.colon}}{{coverage.read}}

{{/if}}
{{#if coverage.instructions}}
**{{labels.instructions}}**{{labels.colon}}{{coverage.instructions}}

{{#if coverage.not_found}}
**{{labels.notFound}}**{{labels.colon}}{{coverage.not_found}}

{{/if}}
{{/if}}
{{#if coverage.settings}}
**{{labels.settings}}**{{labels.colon}}{{coverage.settings}}

{{/if}}
{{#if coverage.left_out}}
**{{labels.leftOut}}**

{{#each coverage.left_out}}
- {{path}}: {{reason}}
{{/each}}
{{/if}}

</details>

<sub>${footer}</sub>
{{#if react}}

<sub>{{react}}</sub>
{{/if}}
`

/** Template for a summary in Swarm, which shows HTML as text. */
export const swarmSummaryTemplate = `${summaryText(
  plainWalkthrough,
  `${plainSection("late")}
${plainSection("folded")}`
)}
{{coverage.line}}

{{#if coverage.left_out}}
**{{labels.leftOut}}**

{{#each coverage.left_out}}
- {{path}}: {{reason}}
{{/each}}

{{/if}}
${footer}
{{#if react}}

{{react}}
{{/if}}
`
