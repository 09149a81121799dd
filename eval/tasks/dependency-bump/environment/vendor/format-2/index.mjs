export function formatMoney(amount, { currency }) {
  if (currency === undefined) throw new TypeError("currency is required");
  return `${currency} ${amount.toFixed(2)}`;
}
