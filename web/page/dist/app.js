fetch("api/v1/cells").then(async (answer) => {
	const told = answer.ok ? new DataView(await answer.arrayBuffer()).getUint32(12, true) + " ports have counters." : "There are no counters.";
	document.getElementById("told").append(" " + told);
});
