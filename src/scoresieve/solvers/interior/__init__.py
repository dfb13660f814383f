"""The interior-point method that both engines use on their own optimality conditions."""
