/**
 * A report of osv-scanner in SARIF, with the fields and values that the printer of version 2.5.0 wrote, compiled from its sources, for packages
 * with these advisories; lists without entries are shortened. Each package is a result about its lock file as a whole, whose URI is absolute, or
 * relative to `/github/workspace`.
 */
interface Advisory {
  readonly id: string
  readonly aliases: ReadonlyArray<string>
  /** Name and version. */
  readonly dependency: string
  readonly uri: string
}

export const osvMessage = ({ aliases, dependency, id }: Advisory): string =>
  `Package '${dependency}' is vulnerable to '${id}'${aliases.length === 0 ? "" : ` (also known as '${aliases.join("', '")}')`}.`

const toRule = ({ aliases, id }: Advisory) => {
  const text = `${id}: Summary of the advisory`
  return {
    id,
    name: id,
    shortDescription: { text, markdown: text },
    fullDescription: { text: "Details", markdown: "Details" },
    help: { text: "## Remediation", markdown: "## Remediation" },
    deprecatedIds: [id, ...aliases],
    properties: { "security-severity": "9.8" },
    relationships: []
  }
}

const toResult = (advisory: Advisory, ruleIndex: number) => ({
  ruleId: advisory.id,
  ruleIndex,
  kind: "fail",
  level: "warning",
  rank: -1,
  message: { text: osvMessage(advisory), arguments: [] },
  locations: [
    {
      id: -1,
      physicalLocation: { artifactLocation: { uri: advisory.uri, index: -1 } },
      annotations: [],
      logicalLocations: [],
      relationships: []
    }
  ],
  partialFingerprints: { primaryLocationLineHash: "0".repeat(64) },
  attachments: [],
  codeFlows: [],
  fixes: [],
  graphs: [],
  stacks: [],
  taxa: []
})

export const osvReport = (advisories: ReadonlyArray<Advisory>): string =>
  JSON.stringify(
    {
      $schema: "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json",
      version: "2.1.0",
      properties: {},
      runs: [
        {
          tool: {
            driver: {
              name: "osv-scanner",
              informationUri: "https://github.com/google/osv-scanner",
              version: "2.5.0",
              rules: advisories.map(toRule)
            },
            extensions: []
          },
          artifacts: advisories.map(({ uri }) => ({ location: { uri, index: -1 }, length: -1, parentIndex: -1 })),
          invocations: [],
          results: advisories.map(toResult)
        }
      ]
    },
    undefined,
    2
  )
