// What the page can be about, and which panes there are for it.

const PANES = {
  policy: { label: "Policy", hint: "a policy, and its binding if you like (YAML)" },
  binding: { label: "Binding", hint: "bindings of the policy (YAML)" },
  params: { label: "Params", hint: "objects that the policy takes its params from (YAML)" },
  cluster: { label: "Cluster", hint: "other objects that are looked up: definitions, LimitRanges … (YAML)" },
  authorizer: { label: "Authorizer", hint: "roles and their bindings, which the authorizer answers by (YAML)" },
  object: { label: "Object", hint: "the object that is sent (YAML)" },
  oldObject: { label: "Old object", hint: "the object as it is now, for UPDATE and DELETE (YAML)" },
  namespace: { label: "Namespace", hint: "the Namespace that the request is in (YAML)" },
  user: { label: "User", hint: "username, groups, uid and extra of who asks (YAML)" },
  before: { label: "Before", hint: "what the policies are compared with: policies, bindings, params as they were (YAML)" },
  properties: { label: "Properties", hint: "a document of kind PolicyProperties: what is to be true of all that the policies admit (YAML)" },
  expression: { label: "Expression", hint: "an expression (CEL)" },
  variables: { label: "Variables", hint: "names and values (YAML)" },
};

const AROUND = ["object", "oldObject", "namespace", "user"];

export const MODES = {
  validating: { label: "Validating policy", policies: ["policy", "binding", "params", "authorizer", "cluster"], request: AROUND, proofs: ["before", "properties"] },
  mutating: { label: "Mutating policy", policies: ["policy", "binding", "params", "authorizer", "cluster"], request: AROUND },
  rules: { label: "Rules of a CRD", policies: ["policy", "cluster"], request: ["object", "oldObject", "user"], proofs: ["before"], names: { policy: "Definition" } },
  webhook: { label: "Webhook match conditions", policies: ["policy", "authorizer", "cluster"], request: AROUND, names: { policy: "Webhooks" } },
  expression: { label: "Bare expression", policies: ["expression"], request: ["variables", "object", "oldObject", "params"] },
};

export const RELEASES = ["1.37", "1.36", "1.35", "1.34", "1.33", "1.32", "1.31", "1.30"];

/** The panes of a group in a mode: {name, label, hint}. While proofs are shown, those of requests give
 * way to those of proofs. */
export function panesOf({ mode, view }, group) {
  const { names = {}, ...groups } = MODES[mode];
  if (group === "request" && view === "proofs") group = "proofs";
  return groups[group].map((name) => ({ name, ...PANES[name], ...(names[name] && { label: names[name] }) }));
}
