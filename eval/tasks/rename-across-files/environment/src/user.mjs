export function fetchUser(id) {
  return { id, name: `user ${id}` };
}

export function fetchUserAgent() {
  return "courser-eval/1";
}
