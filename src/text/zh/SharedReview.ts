/** Texts of the page of a shared review, in Chinese. */
import type { sharedReview as english } from "../en/SharedReview.ts"

export const sharedReview: Readonly<Record<keyof typeof english, string>> = {
  language: "zh-CN",
  title: "{place} 的评审",
  commit: "提交",
  reviewed: "评审时间",
  expires: "此链接的有效期至",
  comments: "评论内容",
  nothing: "此次评审没有发表评论。",
  coverage: "覆盖范围",
  lines: "已读取的变更行",
  files: "已读取的文件",
  skipped: "未读取的文件"
}
