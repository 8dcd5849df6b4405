/** Erasing a person: what was found of the person, and what stays. */
import type { Params } from "../ReasonParams.ts"

export const personReasons = {
  PersonExpected: {},
  PreviewChanged: {},
  PersonErased: {},
  PersonRemains: {},
  PersonFound: { count: "number" },
  /** Records of the person, by kind. */
  PersonPrompts: { count: "number" },
  PersonPasses: { count: "number" },
  PersonLogLines: { count: "number" },
  PersonPayloads: { count: "number" },
  PersonPublications: { count: "number" },
  PersonFindings: { count: "number" },
  PersonLessons: { count: "number" },
  PersonPauses: { count: "number" },
  PersonBatches: { count: "number" },
  PersonChatRequests: { count: "number" },
  PersonOptOuts: { count: "number" },
  PersonNotices: { count: "number" },
  PersonSessions: { count: "number" },
  PersonViews: { count: "number" },
  PersonTokens: { count: "number" },
  PersonProjects: { count: "number" },
  PersonAudit: { count: "number" },
  PersonBudgets: { count: "number" },
  PersonReviews: { count: "number" },
  PersonDeliveries: { count: "number" },
  PersonEntries: { count: "number" },
  /** Data that stays. */
  PersonWorkRuns: { count: "number" },
  PersonCommentsStay: { count: "number" },
  PersonHostStays: {},
  PersonNamesStay: {},
  PersonStatementsStay: {},
  PersonConfigurationStays: {},
  PersonLogsStay: {}
} as const satisfies Record<string, Params>
