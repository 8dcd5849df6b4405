/** The built-in templates (Handlebars, Markdown). Values come from View.ts, which makes them safe for their position. */
export const problemTemplate = `{{problem.icon}} **{{problem.severity_label}}**{{#if problem.title}} · {{problem.title}}{{/if}} · \`{{problem.category_label}}\`

{{problem.message}}
{{#if problem.suggestion_block}}

{{problem.suggestion_block}}
{{/if}}
`

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
**{{labels.skipped}}:** {{summary.skipped}}

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

const summaryText = `## {{labels.title}}
{{#if mentions}}

{{mentions}}
{{/if}}
{{#if summary.skipped}}

**{{labels.skipped}}:** {{summary.skipped}}
{{/if}}
{{#if summary.list}}

{{summary.list}}
{{/if}}
{{#if summary.hidden}}

{{summary.hidden}}
{{/if}}
{{#if summary.text}}

{{#if summary.described}}
**{{summary.described}}**

{{/if}}
{{summary.text}}
{{/if}}
{{#if notices}}

### {{labels.notices}}

{{#each notices}}
- {{this}}
{{/each}}
{{/if}}
`

const footer =
  "aicr{{#if run.models}} · {{labels.model}} {{run.models}}{{/if}} · {{labels.commit}} {{vcs.head_link}}{{#if run.spent}} · {{run.spent}}{{/if}}{{#if run.url}} · [{{labels.details}}]({{run.url}}){{/if}}"

export const summaryTemplate = `${summaryText}
<details>
<summary>{{coverage.line}}</summary>

{{#if coverage.read}}
**{{labels.read}}:** {{coverage.read}}

{{/if}}
{{#if coverage.left_out}}
**{{labels.leftOut}}:**

{{#each coverage.left_out}}
- {{path}}: {{reason}}
{{/each}}
{{/if}}

</details>

<sub>${footer}</sub>
`

/** Template for a summary in Swarm, which shows HTML as text. */
export const swarmSummaryTemplate = `${summaryText}
{{coverage.line}}

{{#if coverage.left_out}}
**{{labels.leftOut}}:**

{{#each coverage.left_out}}
- {{path}}: {{reason}}
{{/each}}

{{/if}}
${footer}
`
