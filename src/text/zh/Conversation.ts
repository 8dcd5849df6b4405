/** Reasons for which a comment gets no reply, and how a reply ended. */
import type { conversationReasons } from "../../domain/reasons/Conversation.ts"

export const conversationTexts = {
  ConversationOff: "{=review.conversation.enabled} 为 false",
  CommentNotFound: "未找到该评论：它已被删除，或变更的评审数超过读取上限",
  CommentOfBot: "{account} 是机器人",
  ConversationLocked: "讨论已锁定",
  AddressesOthers: "评论是写给其他人的",
  NotAddressed: "评论不在评审问题的讨论中，也没有提及本服务",
  ThreadOfPeople: "{person} 也在讨论中发言，而评论没有提及本服务",
  MayNotConverse: "{person} 不能得到回复（{=review.conversation.from}）",
  NoReplyNeeded: "评论无需回复",
  Replied: "已回复提问",
  FindingWithdrawn: "问题已撤回",
  FindingKept: "问题保留",
  LeftToPeople: "需要由人员决定",
  ReplyLimitReached: "已达到 {={limit}}（{count}）",
  AgentRoundsUsed: "已达到 {=review.conversation.limits.agent_rounds}（{count}）：由人员决定此变更如何继续",
  NoModelForReplies: "没有为回复配置模型；请添加 {=llm.providers} 和 {=llm.model_chain}"
} as const satisfies Record<keyof typeof conversationReasons, string>
