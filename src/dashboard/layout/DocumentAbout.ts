/** The document about each page of the menu. */
export const documents = {
  "/": "administration#the-dashboard",
  "/changes": "deliveries",
  "/deliveries": "deliveries",
  "/runs": "publishing",
  "/queue": "triggers#inspect-and-change-the-queue-aicr-queue",
  "/projects": "statistics",
  "/statistics": "statistics",
  "/rules": "context#rules-with-an-id",
  "/nodes": "cluster",
  "/providers": "administration#providers",
  "/setup": "webhooks",
  "/configuration": "configuration-sources",
  "/chat": "chat",
  "/tokens": "coding-agents#tokens",
  "/audit": "administration#set-up-and-nodes"
} as const

/** Returns the path of the document about a page, below the dashboard. `pathname` is below the dashboard, too. */
export const documentAbout = (pathname: string): string => {
  const about = Object.entries(documents).find(
    ([page]) => page !== "/" && (pathname === page || pathname.startsWith(`${page}/`))
  )
  const [path, anchor] = (about?.[1] ?? documents["/"]).split("#")
  return `/docs/${path}.html${anchor === undefined ? "" : `#${anchor}`}`
}
