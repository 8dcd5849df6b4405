/** Settings that are valid, and have no effect or cannot be used. */
import type { configUseReasons } from "../../domain/reasons/ConfigUse.ts"

export const configUseTexts = {
  ProviderProblem: "provider {provider}: {why}",
  ProviderFieldUnused: "provider {provider}: {kind} has no {field}, so it has no effect; remove it",
  AgentFieldUnused: "workspace {workspace}, agent mode {mode}: {why}",
  FalseWithoutEffect: "false has no effect: {why}",
  HasNoEffect: "has no effect: {why}",
  AlwaysDropsHistory: "it drops compacted history always",
  AlwaysCompacts: "it compacts always",
  AlwaysWithoutApprovals: "it runs without approvals always",
  RefusesWithoutApprovals: "without approvals it refuses every tool",
  HasNoApprovals: "it has no approvals",
  ApprovesEverything: "it approves everything in this mode",
  CompactsBetweenMessages: "it compacts between messages of a user only, and a review has one",
  NativeNeverCompacts: "native-llm does not compact",
  NoSuchSetting: "it has no such setting",
  NoSuchTool: "it has no such tool",
  SearxngNotCalled: "searxng is not among the providers that are called",
  SearchProviderUnknown: "{id} is not a search provider; the providers are {ids}",
  SearchOfOtherModes: "{id} is never called: this mode calls {ids} only",
  SearchNotFirst: "{id} is never called: this mode calls one provider, and {first} precedes it",
  SearchNeeds: "{id} is never called: it needs web_search.{field}",
  NoSearchProviderLeft: "finds nothing: no search provider is left that can be called",
  NoSearchingProvider:
    "finds nothing: the provider of the model has to search, and no provider of llm.model_chain.{chain} has the API of this CLI",
  ChannelFieldUnused: "without effect on kind {kind}: {why}; remove it",
  IssuesAreAssigned: "managed issues are assigned (assign_committer)",
  IssuesWithoutMentions: "managed issues have no mentions",
  MentionsNeedAuthor: "without mention_author there are no mentions",
  ChangelistUserMentioned: "the user of the changelist is mentioned",
  IssuesNeedProblems: "a review without problems creates no issue",
  IssuesWithoutSummary: "managed issues have no summary",
  SummaryRendersAll: "templates.summary renders the whole chat message",
  ReceivesNoChanges: "receives no changes of trigger {trigger}: {why}",
  ChannelKindMissing: "kind {kind} is not available in this build; nothing is sent to the channel",
  GitlabRequestsNothing: "GitLab's API cannot request changes; remove review_event",
  TemplatesUnchecked:
    "{count} templates were not rendered with the example, because the others took over {seconds} seconds; an invalid one is replaced by the built-in one when it is used",
  TemplateInvalid: "is invalid as the {part} of channel {channel}: {why}; the built-in template is used"
} as const satisfies Record<keyof typeof configUseReasons, string>
